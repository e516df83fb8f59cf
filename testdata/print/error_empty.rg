// Nothing here.
// ---- expected
// error: error_empty.rg:2: parse error: expected `fn`, found the end of the text

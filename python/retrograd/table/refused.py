"""Functions of NumPy that are refused on traced arrays, and why. What is known in Python, NumPy itself computes."""

import numpy as np

_LENGTH = "the length of its result depends on elements, which are not known before the program runs"
_COMPLEX = "complex numbers are not supported"
_DISCRETE = "it takes the bits of a number apart, and has no derivative"
_DATES = "dates are not supported"
_TEXT = "text and files are not supported"

REFUSED = {
    **dict.fromkeys((np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values, np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.trim_zeros), _LENGTH),
    **dict.fromkeys((np.roots, np.linalg.eig, np.linalg.eigvals, np.sort_complex), _COMPLEX),
    **dict.fromkeys([function for function in map(np.fft.__dict__.get, np.fft.__all__) if function not in (np.fft.fftshift, np.fft.ifftshift, np.fft.fftfreq, np.fft.rfftfreq)], _COMPLEX),
    **dict.fromkeys((np.nextafter, np.spacing, np.packbits, np.unpackbits, np.bitwise_count), _DISCRETE),
    **dict.fromkeys((np.datetime_as_string, np.busday_count, np.busday_offset, np.is_busday, np.isnat), _DATES),
    **dict.fromkeys((np.array2string, np.array_repr, np.array_str, np.save, np.savetxt, np.savez, np.savez_compressed), _TEXT),
    np.einsum_path: "the order of products is the compiler's; it is known when the function is compiled",
    np.histogramdd: "use np.histogram, or np.add.at of bins", np.polydiv: "its length depends on the coefficients",
    np.may_share_memory: "memory is not allocated while a function is traced", np.shares_memory: "memory is not allocated while a function is traced",
    np.can_cast: "it is about element types; use the types themselves", np.min_scalar_type: "it is about the value, which is not known; use the type",
}

"""A binary heap in an array, by sifts of swaps under conditions of its values, drained into a weighted sum."""

import numpy as np


def sift_down(heap, start, end):
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


def heapsort(values):
    heap = values.copy()
    n = len(heap)
    for start in range(n // 2 - 1, -1, -1):
        sift_down(heap, start, n)
    for end in range(n - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        sift_down(heap, 0, end)
    return heap


def gini(values):
    ordered = heapsort(values)
    n = len(ordered)
    return 2 * np.sum(np.arange(1, n + 1) * ordered) / (n * np.sum(ordered)) - (n + 1) / n


def example():
    return gini, (np.array([0.9, 0.2, 1.7, 0.6, 1.1, 0.4, 2.3]),), (0,)

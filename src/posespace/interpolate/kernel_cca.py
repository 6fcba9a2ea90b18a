"""Kernel CCA: the regression of values on Gaussian kernels that correlates best with them, for many models at once.

Canonical correlation analysis between the kernels at the samples and the values, all canonical pairs kept, then least
squares from the canonical scores to the values. With all pairs kept the scores span what kernel ridge regression
predicts, so it is that regression times a small matrix that undoes its shrinkage.
"""

from __future__ import annotations

import numpy as np

from posespace.check import Floats

RIDGE = 1e-4
"""Ridge of the matrix that undoes the shrinkage, of the scores' mean square."""


def centred_kernels(squares: Floats, width: Floats) -> tuple[Floats, Floats]:
    """Return Gaussian kernels (..., S, S) of squared distances, centred, and the subtracted means (..., S)."""
    kernels = np.exp(-0.5 * squares / np.asarray(width)[..., None, None] ** 2)
    row = kernels.mean(axis=-1, keepdims=True)
    return kernels - row - np.swapaxes(row, -1, -2) + row.mean(axis=-2, keepdims=True), row[..., 0]


def ridge_weights(kernels: Floats, values: Floats, ridge: float) -> Floats:
    """Return the weights (..., S, O) of kernel ridge regression; `ridge` is relative to the kernels' mean variance."""
    count = kernels.shape[-1]
    scale = np.trace(kernels, axis1=-2, axis2=-1)[..., None, None] / count
    return np.linalg.solve(kernels + (ridge * scale + 1e-12) * np.eye(count), values)


def kernel_cca(squares: Floats, values: Floats, width: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Fit models ``offset + Σ coefficient · exp(-d² / 2 width²)``.

    Parameters
    ----------
    squares : (..., S, S) squared distances between the samples of each model
    values : (..., S, O) to be predicted at the samples
    width : (...) of the kernel
    ridge : relative to the kernels' mean variance

    Returns
    -------
    offsets : (..., O)
    coefficients : (..., S, O)
    """
    kernels, row = centred_kernels(squares, width)
    mean = values.mean(axis=-2, keepdims=True)
    weights = ridge_weights(kernels, values - mean, ridge)
    scores = kernels @ weights
    transposed = np.swapaxes(scores, -1, -2)
    gram = transposed @ scores
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / gram.shape[-1]
    correction = np.linalg.solve(gram + (RIDGE * size + 1e-30) * np.eye(gram.shape[-1]), transposed @ (values - mean))
    coefficients: Floats = weights @ correction
    return mean[..., 0, :] - np.einsum("...s,...so->...o", row, coefficients), coefficients


def leave_one_out(squares: Floats, values: Floats, widths: Floats, ridge: float) -> Floats:
    """Return the leave-one-out errors of values (B, S, O), in closed form."""
    kernels, _ = centred_kernels(squares, widths)
    count = kernels.shape[-1]
    scale = np.trace(kernels, axis1=1, axis2=2)[:, None, None] / count
    hat = kernels @ np.linalg.inv(kernels + (ridge * scale + 1e-12) * np.eye(count)) + 1 / count
    complement = np.maximum(1 - np.diagonal(hat, axis1=1, axis2=2), 1e-6)
    return np.asarray((values - hat @ values) / complement[..., None])


def median_distances(squares: Floats) -> Floats:
    """Return the median distance (...) between samples; where all coincide, a small number."""
    pairs = np.triu_indices(squares.shape[-1], 1)
    if not len(pairs[0]):
        return np.ones(squares.shape[:-2])
    medians = np.sqrt(np.median(squares[..., pairs[0], pairs[1]], axis=-1))
    return np.where(medians > 1e-12, medians, max(1e-6, 1e-6 * float(medians.max(initial=0.0))))

"""Two neo-Hookean laws for soft tissue: energy, stress and tangent at one point, as numba kernels.

Both laws are functions ψ(I, J) of I = tr FᵀF and J = det F that are linear in I, so one code serves both: a law is its
derivatives. The tangent ∂²ψ/∂F² has a known eigensystem in the singular frame of F (Smith et al. 2018), which is how
negative eigenvalues are damped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.jit import njit

LAWS = ("stable", "calculix")
"""Laws by number, as the kernels know them."""

# Every shortcut but those that assume no infinity: an inverted element costs infinite energy under the second law.
_FAST = {"contract", "reassoc", "nsz", "arcp"}
_HALF_ROOT = np.sqrt(0.5)


@dataclass(frozen=True)
class Material:
    """An isotropic hyperelastic material whose small-strain response is that of the given constants.

    Parameters
    ----------
    law : "stable", ψ = μ/2 (I − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)², defined for inverted elements too;
        or "calculix", ψ = μ/2 (J^(−2/3) I − 3) + K/2 (J − 1)², the NEO HOOKE of CalculiX, infinite for J ≤ 0
    poisson : Poisson's ratio, at least 0 and below 0.5
    young : Young's modulus. Where one material fills the mesh and only positions are prescribed, the shape does not
        depend on it: it scales energy and force alike
    """

    law: str = "stable"
    poisson: float = 0.45
    young: float = 1.0

    def __post_init__(self) -> None:
        check.choice("material law", self.law, LAWS)
        if not 0 <= self.poisson < 0.5:
            raise InputError(f"material poisson: expected at least 0 and below 0.5, got {self.poisson}")
        if not 0 < self.young < np.inf:
            raise InputError(f"material young: expected above 0, got {self.young}")

    @property
    def shear(self) -> float:
        """The shear modulus μ."""
        return self.young / (2 * (1 + self.poisson))

    @property
    def lame(self) -> float:
        """Lamé's first constant λ."""
        return self.young * self.poisson / ((1 + self.poisson) * (1 - 2 * self.poisson))

    @property
    def bulk(self) -> float:
        """The bulk modulus K."""
        return self.young / (3 * (1 - 2 * self.poisson))

    @property
    def constants(self) -> tuple[int, float, float]:
        """The law's number, μ, and its volume constant: λ + μ, or K. What the kernels take."""
        volume = self.lame + self.shear if self.law == "stable" else self.bulk
        return LAWS.index(self.law), self.shear, volume


@njit(fastmath=_FAST)
def _derivatives(law: int, mu: float, volume: float, i: float, j: float) -> tuple[float, float, float, float, float]:
    """ψ, ∂ψ/∂I, ∂ψ/∂J, ∂²ψ/∂I∂J and ∂²ψ/∂J²; ∂²ψ/∂I² is 0."""
    if law == 0:
        energy = 0.5 * mu * (i - 3.0) - mu * (j - 1.0) + 0.5 * volume * (j - 1.0) ** 2
        return energy, 0.5 * mu, volume * (j - 1.0) - mu, 0.0, volume
    if j <= 0.0:
        return np.inf, 0.5 * mu, 0.0, 0.0, 0.0
    scale = 0.5 * mu * j ** (-2.0 / 3.0)
    energy = scale * i - 1.5 * mu + 0.5 * volume * (j - 1.0) ** 2
    mixed = -2.0 / 3.0 * scale / j
    return energy, scale, mixed * i + volume * (j - 1.0), mixed, -5.0 / 3.0 * mixed / j * i + volume


@njit(fastmath=_FAST)
def cofactor(f: Floats, c: Floats) -> float:
    """Write the cofactor matrix ∂J/∂F of `f` (3, 3) into `c` and return J = det F."""
    for a in range(3):
        p, q = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            r, s = (b + 1) % 3, (b + 2) % 3
            c[a, b] = f[p, r] * f[q, s] - f[p, s] * f[q, r]
    return float(f[0, 0] * c[0, 0] + f[0, 1] * c[0, 1] + f[0, 2] * c[0, 2])


@njit(fastmath=_FAST)
def stress(law: int, mu: float, volume: float, f: Floats, p: Floats) -> tuple[float, float]:
    """Write the first Piola stress ∂ψ/∂F of `f` (3, 3) into `p` (3, 3) and return ψ and J."""
    j = cofactor(f, p)
    i = 0.0
    for a in range(3):
        for b in range(3):
            i += f[a, b] * f[a, b]
    energy, by_i, by_j, _, _ = _derivatives(law, mu, volume, i, j)
    for a in range(3):
        for b in range(3):
            p[a, b] = 2.0 * by_i * f[a, b] + by_j * p[a, b]
    return energy, j


@njit(fastmath=_FAST)
def tangent(law: int, mu: float, volume: float, beta: float, f: Floats, h: Floats, work: Floats) -> None:
    """Write ∂²ψ/∂F² at `f` (3, 3) into `h` (9, 9), rows and columns 3a + b for F_ab.

    Negative eigenvalues are multiplied by 1 − `beta`: 0 leaves the tangent as it is, 1 makes it positive semidefinite.
    `work` (9, 9) is scratch space.
    """
    c = work[:3, :3]
    j = cofactor(f, c)
    i = 0.0
    for a in range(3):
        for b in range(3):
            i += f[a, b] * f[a, b]
    _, by_i, by_j, mixed, by_jj = _derivatives(law, mu, volume, i, j)
    for p in range(9):
        fp, cp = f[p // 3, p % 3], c[p // 3, p % 3]
        for q in range(9):
            fq, cq = f[q // 3, q % 3], c[q // 3, q % 3]
            h[p, q] = by_jj * cp * cq + 2.0 * mixed * (fp * cq + cp * fq)
        h[p, p] += 2.0 * by_i
    # ∂²J/∂F_ab∂F_cd = ε_acm ε_bdn F_mn: for c one after a, m is two after it and the sign is +; else the reverse.
    for a in range(3):
        for b in range(3):
            for u in range(1, 3):
                for v in range(1, 3):
                    entry = by_j * f[(a + 3 - u) % 3, (b + 3 - v) % 3]
                    h[3 * a + b, 3 * ((a + u) % 3) + (b + v) % 3] += entry if u == v else -entry
    if beta > 0.0 and not _is_definite(h, work):
        _damp(2.0 * by_i, by_j, mixed, by_jj, beta, f, h)


@njit(fastmath=_FAST)
def _is_definite(h: Floats, work: Floats) -> bool:
    """Whether `h` (9, 9) is positive definite, by trying Cholesky in `work`: far cheaper than its eigenvalues."""
    for p in range(9):
        for q in range(p + 1):
            total = h[p, q]
            for r in range(q):
                total -= work[p, r] * work[q, r]
            if p == q:
                if total <= 0.0:
                    return False
                work[p, p] = np.sqrt(total)
            else:
                work[p, q] = total / work[q, q]
    return True


@njit(fastmath=_FAST)
def _damp(diagonal: float, by_j: float, mixed: float, by_jj: float, beta: float, f: Floats, h: Floats) -> None:
    """Add to the tangent `h` what changes each negative eigenvalue into (1 − beta) times itself."""
    u, s, v = _signed_svd(f)
    mode = np.zeros((3, 3))
    # Six modes rotate or shear a plane of the singular vectors; the other three stretch along its axes.
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for sign in (-1.0, 1.0):
            value = diagonal - sign * by_j * s[k]
            if value < 0.0:
                mode[i, j], mode[j, i] = _HALF_ROOT, sign * _HALF_ROOT
                _add_mode(-beta * value, u, mode, v, h)
                mode[i, j], mode[j, i] = 0.0, 0.0
    stretch, axes, g = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for k in range(3):
        g[k] = s[(k + 1) % 3] * s[(k + 2) % 3]
    for i in range(3):
        for j in range(3):
            base = diagonal if i == j else by_j * s[3 - i - j]
            stretch[i, j] = base + by_jj * g[i] * g[j] + 2.0 * mixed * (s[i] * g[j] + g[i] * s[j])
    _diagonalise(stretch, axes)
    for k in range(3):
        if stretch[k, k] < 0.0:
            for i in range(3):
                mode[i, i] = axes[i, k]
            _add_mode(-beta * stretch[k, k], u, mode, v, h)


@njit(fastmath=_FAST)
def _add_mode(value: float, u: Floats, mode: Floats, v: Floats, h: Floats) -> None:
    """Add to `h` (9, 9) the eigenvalue `value` of the mode U `mode` Vᵀ."""
    rotated = np.empty(9)
    for a in range(3):
        for b in range(3):
            total = 0.0
            for i in range(3):
                for j in range(3):
                    total += u[a, i] * mode[i, j] * v[b, j]
            rotated[3 * a + b] = total
    for p in range(9):
        for q in range(9):
            h[p, q] += value * rotated[p] * rotated[q]


@njit(fastmath=_FAST)
def _diagonalise(a: Floats, v: Floats) -> None:
    """Turn a symmetric matrix into its eigenvalues, on its diagonal, and write the eigenvectors as columns of `v`."""
    for p in range(3):
        for q in range(3):
            v[p, q] = 1.0 if p == q else 0.0
    for _ in range(16):
        off = a[0, 1] ** 2 + a[0, 2] ** 2 + a[1, 2] ** 2
        if off <= 1e-30 * (a[0, 0] ** 2 + a[1, 1] ** 2 + a[2, 2] ** 2):
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if a[p, q] == 0.0:
                    continue
                # One Jacobi rotation, the one that makes a[p, q] vanish.
                ratio = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
                t = (1.0 if ratio >= 0 else -1.0) / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(3):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                    v[k, p], v[k, q] = c * v[k, p] - s * v[k, q], s * v[k, p] + c * v[k, q]
                for k in range(3):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]


@njit(fastmath=_FAST)
def _signed_svd(f: Floats) -> tuple[Any, Any, Any]:
    """F = U diag(s) Vᵀ with rotations U, V, largest first: the last singular value carries the sign of det F."""
    a, axes = np.empty((3, 3)), np.empty((3, 3))
    for p in range(3):
        for q in range(3):
            a[p, q] = f[0, p] * f[0, q] + f[1, p] * f[1, q] + f[2, p] * f[2, q]
    _diagonalise(a, axes)
    first = 0 if a[0, 0] >= max(a[1, 1], a[2, 2]) else (1 if a[1, 1] >= a[2, 2] else 2)
    second, third = (first + 1) % 3, (first + 2) % 3
    if a[third, third] > a[second, second]:
        second = third
    u, s, v = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    for p in range(3):
        v[p, 0], v[p, 1] = axes[p, first], axes[p, second]
    _complete(v)
    for p in range(3):
        u[p, 0] = f[p, 0] * v[0, 0] + f[p, 1] * v[1, 0] + f[p, 2] * v[2, 0]
        u[p, 1] = f[p, 0] * v[0, 1] + f[p, 1] * v[1, 1] + f[p, 2] * v[2, 1]
    s[0] = _unit(u, 0)
    s[1] = _unit(u, 1)
    if s[1] <= 1e-12 * s[0]:
        # F has lost rank: any direction across the first serves.
        least = 0 if abs(u[0, 0]) < 0.6 else 1
        for p in range(3):
            u[p, 1] = 1.0 if p == least else 0.0
        _unit(u, 1)
    _complete(u)
    s[2] = 0.0
    for p in range(3):
        for q in range(3):
            s[2] += u[p, 2] * f[p, q] * v[q, 2]
    return u, s, v


@njit(fastmath=_FAST)
def _unit(m: Floats, column: int) -> float:
    """Scale a column of `m` (3, 3) to length one, the second one made orthogonal to the first; return its length."""
    if column == 1:
        along = m[0, 0] * m[0, 1] + m[1, 0] * m[1, 1] + m[2, 0] * m[2, 1]
        for p in range(3):
            m[p, 1] -= along * m[p, 0]
    length = float(np.sqrt(m[0, column] ** 2 + m[1, column] ** 2 + m[2, column] ** 2))
    for p in range(3):
        m[p, column] /= max(length, 1e-300)
    return length


@njit(fastmath=_FAST)
def _complete(m: Floats) -> None:
    """Make the third column of `m` (3, 3) the cross product of the others."""
    for p in range(3):
        q, r = (p + 1) % 3, (p + 2) % 3
        m[p, 2] = m[q, 0] * m[r, 1] - m[r, 0] * m[q, 1]

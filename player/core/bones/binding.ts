/** Which bones move each vertex: what a file has in JOINTS_n and WEIGHTS_n, without the weights that are zero. */

/** The bones of vertex v, and their weights, are from starts[v] to starts[v + 1]. */
export interface Binding {
  starts: Uint32Array;
  bones: Uint16Array;
  weights: Float32Array;
}

/** Of tables (N, P), P being `width`: rows that sum to more than 0 are scaled to sum to one. */
export function bindingOf(influences: ArrayLike<number>, weights: ArrayLike<number>, width: number): Binding {
  const vertices = influences.length / width;
  const starts = new Uint32Array(vertices + 1);
  const bones = new Uint16Array(influences.length);
  const kept = new Float32Array(influences.length);
  let next = 0;
  for (let vertex = 0; vertex < vertices; vertex++) {
    let total = 0;
    for (let k = width * vertex; k < width * (vertex + 1); k++) total += weights[k];
    // Rows that sum to one but for rounding stay as the file has them.
    const scale = Math.abs(total - 1) > 1e-6 && total > 0 ? 1 / total : 1;
    for (let k = width * vertex; k < width * (vertex + 1); k++) {
      if (weights[k] === 0) continue;
      bones[next] = influences[k];
      kept[next++] = scale * weights[k];
    }
    starts[vertex + 1] = next;
  }
  return { starts, bones: bones.slice(0, next), weights: kept.slice(0, next) };
}

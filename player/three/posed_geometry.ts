/** Geometries of posed meshes: what no pose changes is refined once; points and normals are each copy's own. */

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Float32BufferAttribute } from "three";
import type { InterleavedBufferAttribute } from "three";

import type { FineSet } from "../core/posed/fine_set.js";
import { refined } from "../core/posed/subdivision.js";

type Attribute = BufferAttribute | InterleavedBufferAttribute;

/** Attributes that the pose gives, or that a posed surface has no use for. */
const POSED = /^(position|normal|tangent|skin|joints|weights)/;

/** What all copies of a primitive share: its triangles, and attributes such as texture coordinates and colours. */
export class StaticGeometry {
  private readonly attributes: Record<string, BufferAttribute> = {};
  private readonly index: Uint16Array | Uint32Array;

  /** Parameters: a primitive as it was loaded, its vertices, and where its corners begin among theirs. */
  constructor(
    loaded: BufferGeometry,
    readonly set: number,
    fine: FineSet,
    first: number,
    count: number,
  ) {
    const corners = fine.triangles.subarray(first, first + count);
    this.index = fine.count < 2 ** 16 ? Uint16Array.from(corners) : corners.slice();
    for (const [name, attribute] of Object.entries(loaded.attributes)) {
      if (!POSED.test(name)) this.attributes[name] = refinedAttribute(attribute, fine);
    }
  }

  /** Return a geometry with its own points and normals. What is shared is so on the processor only: each can be freed. */
  with(position: BufferAttribute, normal: BufferAttribute): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setIndex(new BufferAttribute(this.index, 1));
    geometry.setAttribute("position", position);
    geometry.setAttribute("normal", normal);
    for (const [name, { array, itemSize }] of Object.entries(this.attributes)) {
      geometry.setAttribute(name, new BufferAttribute(array, itemSize));
    }
    return geometry;
  }
}

/** An attribute of vectors that each pose changes. */
export function posedAttribute(vectors: Float32Array): BufferAttribute {
  return new BufferAttribute(vectors, 3).setUsage(DynamicDrawUsage);
}

/** The values of an attribute at all vertices of a subdivided set. */
function refinedAttribute(attribute: Attribute, { levels }: FineSet): BufferAttribute {
  const { count, itemSize } = attribute;
  const values = new Float64Array(count * itemSize);
  for (let k = 0; k < values.length; k++) values[k] = attribute.getComponent(Math.floor(k / itemSize), k % itemSize);
  return new Float32BufferAttribute(refined(levels, values, itemSize), itemSize);
}

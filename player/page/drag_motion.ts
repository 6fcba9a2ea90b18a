/** Where a drag in the picture moves something: in the plane of the view, along a normal, or as a rotation. */

import { Plane, Quaternion, Raycaster, Vector2, Vector3 } from "three";
import type { PerspectiveCamera } from "three";

/** A normal that looks shorter than this part of its length moves by the pointer's way up the picture instead. */
const SHORT = 0.2;

/** A normal counts as at least this part of its length, so that one that points at the viewer does not run away. */
const SHORTEST = 0.5;

/** What the picture shows: a camera, and its size in pixels. */
export interface Picture {
  camera: PerspectiveCamera;
  width: number;
  height: number;
}

/** The length in the world of a pixel at a position. */
export function worldPerPixel({ camera, height }: Picture, position: Vector3): number {
  const depth = position.clone().applyMatrix4(camera.matrixWorldInverse).z;
  return (2 * Math.abs(depth) * Math.tan((camera.fov * Math.PI) / 360)) / camera.zoom / height;
}

/** A drag that begins at a pixel, of something at a position of the world whose surface has a normal there. */
export class DragMotion {
  private readonly plane: Plane;
  private readonly start: Vector3;
  private readonly caster = new Raycaster();

  constructor(
    private readonly picture: Picture,
    private readonly origin: Vector3,
    private readonly normal: Vector3,
    private readonly x: number,
    private readonly y: number,
  ) {
    const towards = picture.camera.getWorldDirection(new Vector3());
    this.plane = new Plane().setFromNormalAndCoplanarPoint(towards, origin);
    this.start = this.hit(x, y) ?? origin.clone();
  }

  /** The displacement in the plane of the view that keeps what is dragged below the pointer at (x, y). */
  inView(x: number, y: number): Vector3 {
    return (this.hit(x, y) ?? this.start.clone()).sub(this.start);
  }

  /** The displacement along the normal: by the part of the pointer's way that goes along the normal in the picture. */
  alongNormal(x: number, y: number): Vector3 {
    const { height } = this.picture;
    const base = this.pixel(this.origin);
    const size = worldPerPixel(this.picture, this.origin);
    const tip = this.pixel(this.origin.clone().addScaledVector(this.normal, size * 0.01 * height));
    const direction = tip.sub(base).divideScalar(0.01 * height);
    const length = direction.length();
    if (length < SHORT) direction.set(0, -1);
    else direction.divideScalar(length);
    const way = direction.dot(new Vector2(x - this.x, y - this.y));
    return this.normal.clone().multiplyScalar((way * size) / Math.max(SHORTEST, length));
  }

  /** The rotation about the axes of the picture: half a turn across its height. */
  rotation(x: number, y: number): Quaternion {
    const { camera, height } = this.picture;
    const [right, up] = [new Vector3(), new Vector3()];
    camera.matrixWorld.extractBasis(right, up, new Vector3());
    const vector = right.multiplyScalar(y - this.y).addScaledVector(up, x - this.x);
    const angle = (vector.length() * Math.PI) / height;
    return new Quaternion().setFromAxisAngle(vector.normalize(), angle);
  }

  private pixel(position: Vector3): Vector2 {
    const { camera, width, height } = this.picture;
    const { x, y } = position.clone().project(camera);
    return new Vector2(((x + 1) * width) / 2, ((1 - y) * height) / 2);
  }

  private hit(x: number, y: number): Vector3 | null {
    const { camera, width, height } = this.picture;
    this.caster.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
    return this.caster.ray.intersectPlane(this.plane, new Vector3());
  }
}

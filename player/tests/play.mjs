// Plays glTF files in three.js, on the processor. Its one argument is a JSON file: a list of jobs
// {file, times, out}; the positions of all vertices at each time go to `out` as float32, one frame after the other.
import { readFile, writeFile } from "node:fs/promises";
import { AnimationMixer, LoopOnce, Vector3 } from "three";
import { MeshoptDecoder } from "three/addons/libs/meshopt_decoder.module.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

globalThis.self = globalThis; // the loader asks it for URL

async function load(file) {
  const bytes = await readFile(file);
  const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new GLTFLoader().setMeshoptDecoder(MeshoptDecoder).parseAsync(whole, "");
}

function positions(scene) {
  const coordinates = [];
  const point = new Vector3();
  scene.updateMatrixWorld(true);
  scene.traverse((mesh) => {
    if (!mesh.isMesh) return;
    for (let vertex = 0; vertex < mesh.geometry.attributes.position.count; vertex++) {
      mesh.getVertexPosition(vertex, point);
      coordinates.push(...mesh.localToWorld(point).toArray());
    }
  });
  return coordinates;
}

for (const { file, times, out } of JSON.parse(await readFile(process.argv[2], "utf8"))) {
  const { scene, animations } = await load(file);
  const mixer = new AnimationMixer(scene);
  if (animations.length) {
    const action = mixer.clipAction(animations[0]).setLoop(LoopOnce);
    action.clampWhenFinished = true;
    action.play();
  }
  const frames = times.flatMap((time) => {
    mixer.setTime(time);
    return positions(scene);
  });
  await writeFile(out, new Uint8Array(Float32Array.from(frames).buffer));
}

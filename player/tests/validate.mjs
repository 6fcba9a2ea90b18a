// Prints what the Khronos validator says of each glTF file named as an argument: one JSON object, by file.
import { readFile } from "node:fs/promises";
import validator from "gltf-validator";

const SEVERITIES = ["error", "warning", "information", "hint"];
const messages = {};
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(await readFile(file)), { maxIssues: 100 });
  messages[file] = report.issues.messages.map(
    ({ severity, code, message, pointer }) => `${SEVERITIES[severity]} ${code} ${pointer}: ${message}`,
  );
}
console.log(JSON.stringify(messages));

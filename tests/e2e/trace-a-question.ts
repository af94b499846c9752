import { rmSync } from "node:fs";
import { startOtlpReceiver } from "@hlvm/testing/otlp-receiver";
import { spanTree } from "./span-tree.ts";
import { createWorkspace, startTestMesh } from "./test-mesh.ts";

// `npm run trace`: a mesh of its own, one question with a tool call to the demo model, and what a receiver of OpenTelemetry saw.
const receiver = await startOtlpReceiver();
const mesh = await startTestMesh({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
const workspace = await createWorkspace({ "README.md": "# Teapot\n" });
// The first question after a start measures how Node loads and compiles.
for (const question of ["run true", "run cat README.md"]) {
  const { code, stdout } = await mesh.hlvm(["ask", "-p", "--permission-mode", "bypassPermissions", question], { cwd: workspace });
  if (code !== 0) throw new Error(`hlvm ended with ${code}: ${stdout}`);
}
await mesh.stop();
rmSync(workspace, { recursive: true });
const spans = receiver.spans();
await receiver.close();
const run = spans.findLast(({ name }) => name.startsWith("invoke_agent"))!;
const ofTrace = spans.filter(({ traceId }) => traceId === run.traceId);
console.log(`hlvm ask "run cat README.md", trace ${run.traceId}, ${ofTrace.length} spans, milliseconds\n`);
console.log(spanTree(ofTrace));
console.log(`\nmetrics: ${[...new Set(receiver.metrics().map(({ name }) => name))].sort().join(", ")}`);

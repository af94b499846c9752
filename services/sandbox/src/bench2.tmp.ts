import { randomUUID } from "node:crypto";
import { startTestService } from "./testing/start-test-service.ts";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { ToolExecutor } from "./domain/tool-executor.ts";
import { createTestIdentity } from "@hlvm/testing/test-identity";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
const service = await startTestService();
const { sessionId } = await service.open();
const q = (t: number[]) => { t.sort((a, b) => a - b); return `p50 ${t[t.length >> 1]!.toFixed(2)} p10 ${t[Math.floor(t.length / 10)]!.toFixed(2)} p90 ${t[Math.floor(t.length * .9)]!.toFixed(2)}`; };
const id = await createTestIdentity(); const gate = id.gate();
const ex = new ToolExecutor(service.sessions, gate);
for (const [tool, given] of [["shell_exec", { command: "echo hi" }], ["file_stats", { path: "." }]] as const) {
  const a: number[] = [], g: number[] = [], r: number[] = [];
  for (let i = 0; i < 300; i++) {
    const callId = randomUUID(), runId = randomUUID(); const def = definitionHash(findNativeTool(tool)!); const c = canonicalArguments(JSON.stringify(given));
    const call = { organization: "local", principal: testPrincipal.id, sessionId, runId, callId, tool, definitionHash: def, argumentsHash: c.hash };
    const grant1 = await id.signer.sign({ ...call, policyVersion: "1" }); const t0 = performance.now(); await gate.pass(grant1, call); g.push(performance.now() - t0);
    const grant = await id.signer.sign({ ...call, policyVersion: "1" });
    const t = performance.now(); for await (const _ of ex.execute(testPrincipal, { sessionId, runId, callId, tool, argumentsJson: c.json, definitionHash: def, grant, timeoutMilliseconds: 0 }, new AbortController().signal)); a.push(performance.now() - t);
    const rpc = { sessionId, runId: randomUUID(), callId: randomUUID(), tool, given, principal: testPrincipal };
    const grant2 = await service.sign(rpc); await service.headersOf(testPrincipal);
    const t2 = performance.now(); await service.execute({ ...rpc, grant: grant2 }); r.push(performance.now() - t2);
  }
  console.log(tool, "| gate", q(g), "| domain", q(a), "| rpc", q(r));
}
await service.close(); process.exit(0);

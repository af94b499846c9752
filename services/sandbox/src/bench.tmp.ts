import { openTestIsolation } from "./testing/open-test-sandbox.ts";
import { resourceLimits } from "./adapters/limits/resource-limits.ts";
import { mkdtempSync } from "node:fs";
const { isolation } = await openTestIsolation(process.argv[2] === "none" ? { limits: { ...resourceLimits, perProcess: false } } : {});
const w = mkdtempSync("/tmp/sbx-ws-");
const q = (t: number[]) => { t.sort((a, b) => a - b); return `p50 ${t[t.length >> 1]!.toFixed(2)} p10 ${t[Math.floor(t.length / 10)]!.toFixed(2)} p90 ${t[Math.floor(t.length * .9)]!.toFixed(2)}`; };
const st: number[] = []; for (let i = 0; i < 15; i++) { const a = performance.now(); const o = await isolation.start({ sessionId: "y", workspace: w }); st.push(performance.now() - a); await o.close(); }
console.log("start", q(st));
const s = await isolation.start({ sessionId: "y", workspace: w }); let n = 0;
const run = (tool: string, given: object) => s.run({ callId: `c${n++}`, tool, argumentsJson: JSON.stringify(given), timeoutMilliseconds: 9000 }, () => {}, new AbortController().signal);
for (let i = 0; i < 50; i++) await run("shell_exec", { command: "echo hi" });
const t: number[] = []; for (let i = 0; i < 400; i++) { const a = performance.now(); await run("shell_exec", { command: "echo hi" }); t.push(performance.now() - a); }
console.log("echo", q(t));
const u: number[] = []; for (let i = 0; i < 400; i++) { const a = performance.now(); await run("file_stats", { path: "x" }); u.push(performance.now() - a); }
console.log("stat", q(u));
await s.close(); process.exit(0);

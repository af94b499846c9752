import { mkdtempSync, writeFileSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { createClient } from "@connectrpc/connect";
import { randomUUID } from "node:crypto";
import { createSigningKey, readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { GrantSigner } from "@hlvm/grant/grant-signer";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createMeshTransport } from "@hlvm/rpc/create-mesh-transport";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
const dir = mkdtempSync("/tmp/sbx-state-"); const ws = process.argv[2] ?? mkdtempSync("/tmp/sbx-ws-");
for (const n of ["edge","policy"]) { const k = await createSigningKey(n); writeFileSync(`${dir}/${n}.json`, JSON.stringify(k.privateJwk)); writeFileSync(`${dir}/${n}.pub.json`, JSON.stringify({keys:[k.publicJwk]})); }
const t0 = performance.now();
const child = spawn(process.execPath, ["/work/main/services/sandbox/src/main.ts"], { stdio: ["ignore","inherit","inherit","ipc"], env: { PATH: process.env.PATH, HLVM_TOKEN_PUBLIC_KEYS: `${dir}/edge.pub.json`, HLVM_GRANT_PUBLIC_KEYS: `${dir}/policy.pub.json`, HLVM_SANDBOX_STATE_DIRECTORY: `${dir}/state`, HLVM_LOG_LEVEL: "debug", SECRET: "x" } });
const msg: any = await new Promise((r) => child.once("message", r));
console.log(msg, (performance.now()-t0).toFixed(0), "ms to ready");
if (msg.kind !== "ready") process.exit(1);
const principal = { organization: "local", id: "user:me", roles: ["developer"] as const };
const token = await new TokenMinter(await readSigningKey(`${dir}/edge.json`)).mint(principal);
const signer = new GrantSigner(await readSigningKey(`${dir}/policy.json`));
const client = createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${msg.port}`));
const headers = { authorization: `Bearer ${token}` };
const sessionId = randomUUID(), runId = randomUUID();
console.log(await client.describeIsolation({}, { headers }));
let t = performance.now();
console.log(await client.openWorkspace({ sessionId, path: ws }, { headers }), (performance.now()-t).toFixed(1));
let n = 0;
async function call(tool: string, args: object, quiet = false) {
  const c = canonicalArguments(JSON.stringify(args)); const callId = `c${++n}`; const def = definitionHash(findNativeTool(tool)!);
  const grant = await signer.sign({ organization: "local", principal: "user:me", sessionId, runId, callId, tool, definitionHash: def, argumentsHash: c.hash, policyVersion: "1" });
  const t = performance.now(); let result: any; const outs: string[] = [];
  for await (const r of client.execute({ call: { sessionId, runId, callId, tool, argumentsJson: c.json, definitionHash: def }, grant }, { headers })) { if (r.event.case === "output") outs.push(r.event.value.text); else result = r.event.value; }
  const ms = performance.now() - t;
  if (!quiet) console.log(tool, JSON.stringify(args).slice(0,80), ms.toFixed(2), "ms", result.success, result.errorCode, "|", result.summary, "\n   " + result.content.slice(0, 1500).replaceAll("\n", "\n   "));
  return ms;
}
globalThis.call = call;
await call("shell_exec", { command: "id; env; ls -la / /etc /proc/self/fd /opt/hlvm/*; cat /proc/mounts | cut -c1-120; ulimit -a; echo x > /proc/sys/kernel/core_pattern" });
await call("write_file", { path: "a/b/hello.txt", content: "hi\nthere\n" });
await call("read_file", { path: "a/b/hello.txt" });
await call("edit_file", { path: "a/b/hello.txt", old_text: "there", new_text: "you" });
await call("list_files", {});
await call("file_stats", { path: "a/b/hello.txt" });
await call("search_code", { pattern: "y.u" });
await call("git_status", {});
await call("git_log", {limit:3});
await call("git_diff", {});
await call("shell_exec", { command: "grep nothing a/b/hello.txt" });
await call("shell_exec", { command: "sleep 5", timeout_seconds: 1 });
{ const us: number[] = []; for (let i = 0; i < 200; i++) { const t = performance.now(); await client.describeIsolation({}, { headers }); us.push(performance.now() - t); } us.sort((a,b)=>a-b); console.log("unary rpc p50", us[100]!.toFixed(2)); }
const times: number[] = []; for (let i = 0; i < 300; i++) times.push(await call("shell_exec", { command: "echo hi" }, true));
times.sort((a,b)=>a-b); console.log("echo hi p50", times[150]!.toFixed(2), "p90", times[270]!.toFixed(2), "min", times[0]!.toFixed(2));
const rt: number[] = []; for (let i = 0; i < 200; i++) rt.push(await call("read_file", { path: "a/b/hello.txt" }, true));
rt.sort((a,b)=>a-b); console.log("read_file p50", rt[100]!.toFixed(2));
child.kill("SIGTERM"); await new Promise((r) => child.once("exit", r)); rmSync(dir, { recursive: true });
process.exit(0);

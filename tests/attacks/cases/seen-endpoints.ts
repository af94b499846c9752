import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { existsSync } from "node:fs";
import { ConnectError } from "@connectrpc/connect";
import { findingOf, type AttackCase, type Finding } from "../attack-case.ts";
import { shell, type AttackMesh } from "../attack-mesh.ts";

const SERVICES = ["edge", "orchestrator", "policy", "sandbox", "memory", "model-gateway"];
/** Whoever has said nothing by then will not. */
const DEADLINE_MILLISECONDS = 150_000;
const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);

/** Connects, says this much, and waits: true where the other side ended it. */
async function isEnded(port: number, said: Uint8Array): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined).resume();
  await once(socket, "connect");
  if (said.length > 0) socket.write(said);
  const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS);
  try {
    await once(socket, "close", { signal: deadline });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function silentConnections(mesh: AttackMesh): Promise<Finding> {
  const kept = await Promise.all(
    SERVICES.flatMap((service) => [
      isEnded(mesh.portOf(service), new Uint8Array()).then((ended) => (ended ? [] : [`${service} keeps a connection that says nothing`])),
      isEnded(mesh.portOf(service), PREFACE).then((ended) => (ended ? [] : [`${service} keeps an h2 connection without a request`])),
    ]),
  );
  return findingOf(kept.flat(), "connections that never speak are ended");
}

const METHODS: Readonly<Record<string, string>> = {
  "hlvm.session.v1.SessionService/ListSessions": "orchestrator",
  "hlvm.policy.v1.PolicyService/ListApprovals": "policy",
  "hlvm.audit.v1.AuditService/Query": "policy",
  "hlvm.memory.v1.MemoryService/SearchFacts": "memory",
};
/** A field of a length that is not there, an overlong varint, a wrong wire type, no UTF-8. */
const MALFORMED = ["0aff", "ffffffffffffffffffffff", "0f", "0a02c328", "08"].map((hex) => Buffer.from(hex, "hex"));

async function malformedProtobuf(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  for (const method of Object.keys(METHODS))
    for (const body of MALFORMED) {
      const response = await fetch(`${mesh.mesh.state.edgeUrl}/${method}`, {
        method: "POST",
        headers: { authorization: `Bearer ${mesh.localToken}`, "content-type": "application/proto" },
        body,
      });
      await response.arrayBuffer();
      if (response.status >= 500) problems.push(`${method} answers ${body.toString("hex")} with ${response.status}`);
    }
  return findingOf(problems, "each is told that it is malformed");
}

async function malformedFrames(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  for (const service of SERVICES) {
    const session = connectHttp2(`http://127.0.0.1:${mesh.portOf(service)}`);
    session.on("error", () => undefined);
    const stream = session.request({ ":method": "POST", ":path": "/", "content-type": "application/grpc+proto", te: "trailers" });
    stream.on("error", () => undefined).resume();
    stream.end(Buffer.from("00ffffffff0aff", "hex"));
    await once(stream, "close");
    session.destroy();
    const isUp = await fetch(`${mesh.mesh.state.edgeUrl}/healthz`, { headers: { authorization: `Bearer ${mesh.localToken}` } });
    await isUp.arrayBuffer();
    if (!isUp.ok) problems.push(`after a broken frame to ${service} the edge answers ${isUp.status}`);
  }
  return findingOf(problems, "a frame that breaks off ends its own call");
}

/** Folders of the system and of everybody: none is a project. */
async function systemFolders(mesh: AttackMesh): Promise<Finding> {
  const problems: string[] = [];
  const folders = ["/", "/etc", "/usr", "/root", "/run", "/var", "/home", "/boot", "/proc", "/usr/bin", "/etc/ssh", mesh.mesh.directory];
  for (const folder of new Set(folders.filter(existsSync))) {
    const taken = await mesh.ask(folder, "plan", [[shell("ls")]]).then(
      (run) => run.calls.some(({ success }) => success),
      (thrown: unknown) => {
        if (thrown instanceof ConnectError) return false;
        throw thrown;
      },
    );
    if (taken) problems.push(folder);
  }
  return findingOf(problems.length === 0 ? [] : [`taken as workspaces: ${problems.join(", ")}`], "none is taken as a workspace");
}

export const seenEndpoints: readonly AttackCase[] = [
  { group: "seen", name: "a connection that never speaks stays for ever", onlyByCommand: true, run: silentConnections },
  { group: "seen", name: "malformed protobuf is a 500", run: malformedProtobuf },
  { group: "seen", name: "a frame that breaks off", run: malformedFrames },
  { group: "seen", name: "folders of the system as workspaces", run: systemFolders },
];

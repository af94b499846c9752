import { DoorsMesh } from "./doors-mesh.ts";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient, type Client, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService, type StartRunRequestSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { followAttack, type AttackRun, type AskedApproval } from "./attack-run.ts";
import { startHostileModel, type HostileCall, type HostileModel, type HostileTurn } from "./hostile-model.ts";

export const attackModes = {
  default: PermissionMode.DEFAULT,
  plan: PermissionMode.PLAN,
  acceptEdits: PermissionMode.ACCEPT_EDITS,
  bypassPermissions: PermissionMode.BYPASS_PERMISSIONS,
  dontAsk: PermissionMode.DONT_ASK,
} as const;
export type AttackMode = keyof typeof attackModes;

export const HOSTILE_MODEL = "openai-compatible/hostile";

/** Shared by all cases: small enough to be reached in seconds, large enough for a runner. */
const LIMITS = {
  HLVM_SANDBOX_MEMORY_MEBIBYTES: "256",
  HLVM_SANDBOX_TEMPORARY_MEBIBYTES: "64",
  HLVM_MAXIMUM_TOOL_CALLS: "200",
  HLVM_APPROVAL_SECONDS: "60",
};

export interface AskOptions {
  /** Left out, a new session. */
  readonly sessionId?: string;
  /** A person can be asked; this is how they answer. */
  readonly onAsked?: (approval: AskedApproval) => Promise<void>;
  /** What the model says in the end. */
  readonly answer?: string;
  /** What the run is asked for besides. */
  readonly request?: Omit<MessageInitShape<typeof StartRunRequestSchema>, "$typeName" | "prompt" | "workspace" | "sessionId">;
  /** Tools that the person lets the run use unasked. */
  readonly allowedTools?: readonly string[];
  /** Tools that the run may not use. */
  readonly disallowedTools?: readonly string[];
}

/** The mesh under attack: every service its own process, a model that asks for whatever a case wants, one local person. */
export class AttackMesh {
  readonly mesh: TestMesh;
  readonly model: HostileModel;
  readonly sessions: Client<typeof SessionService>;
  readonly policy: Client<typeof PolicyService>;
  readonly trust: Client<typeof TrustService>;
  readonly #folders: string[] = [];
  #doors: Promise<DoorsMesh> | undefined;

  private constructor(mesh: TestMesh, model: HostileModel) {
    this.mesh = mesh;
    this.model = model;
    const authorization = `Bearer ${this.localToken}`;
    const asThePerson: Interceptor = (next) => (request) => {
      request.header.set("authorization", authorization);
      return next(request);
    };
    const transport = createConnectTransport({ baseUrl: mesh.state.edgeUrl, httpVersion: "2", interceptors: [asThePerson] });
    this.sessions = createClient(SessionService, transport);
    this.policy = createClient(PolicyService, transport);
    this.trust = createClient(TrustService, transport);
  }

  static async start(): Promise<AttackMesh> {
    const model = await startHostileModel();
    return new AttackMesh(await startTestMesh({ ...LIMITS, HLVM_OPENAI_COMPATIBLE_URL: model.url }), model);
  }

  get localToken(): string {
    return readFileSync(this.mesh.state.tokenFile, "utf8").trim();
  }

  /** Another mesh, in team mode, started when the first attack wants it. */
  doors(): Promise<DoorsMesh> {
    return (this.#doors ??= DoorsMesh.start());
  }

  /** A new folder with these files, removed in the end. */
  workspace(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-attack-")));
    this.#folders.push(folder);
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    return folder;
  }

  /** A repository with these files committed. */
  repository(files: Readonly<Record<string, string | Uint8Array>> = { "a.txt": "a\n" }): string {
    const folder = this.workspace(files);
    git(folder, "init", "-q", "-b", "main");
    this.commit(folder);
    return folder;
  }

  commit(folder: string): void {
    git(folder, "add", "-A", "-f");
    git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin");
  }

  /** Whether something is there, and be it a link to nothing. */
  exists(path: string): boolean {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  /** Asks in this folder; the model answers turn by turn with these calls. */
  async ask(
    workspace: string,
    mode: AttackMode,
    turns: readonly (HostileTurn | readonly HostileCall[])[],
    { sessionId = "", onAsked, answer = "done", request = {}, allowedTools = [], disallowedTools = [] }: AskOptions = {},
  ): Promise<AttackRun> {
    const prompt = `attack ${randomUUID()}`;
    this.model.play(
      prompt,
      turns.map((turn) => ("calls" in turn ? turn : { calls: turn })),
      answer,
    );
    const tools = { allowedTools: [...allowedTools], disallowedTools: [...disallowedTools] };
    const settings = { mode: attackModes[mode], canAsk: onAsked !== undefined, ...tools };
    const started = await this.sessions.startRun({ model: HOSTILE_MODEL, ...request, sessionId, prompt, workspace, settings });
    return { ...(await followAttack(this.sessions, started, onAsked)), prompt };
  }

  /** The port of a service on loopback. */
  portOf(service: string): number {
    return this.mesh.state.services.find(({ name }) => name === service)!.port!;
  }

  /** Removes a folder that is done with, before the end. */
  remove(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    this.#folders.splice(this.#folders.indexOf(folder), 1);
  }

  async stop(): Promise<void> {
    await (await this.#doors)?.stop();
    await this.mesh.stop();
    await this.model.close();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** git as the person runs it outside, with nothing of the machine's settings. */
export function git(folder: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH!, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", words, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export const shell = (command: string, more: object = {}): HostileCall => ({ tool: "shell_exec", arguments: { command, ...more } });
export const readFile = (path: string): HostileCall => ({ tool: "read_file", arguments: { path } });
export const writeFile = (path: string, content = "planted\n"): HostileCall => ({ tool: "write_file", arguments: { path, content } });

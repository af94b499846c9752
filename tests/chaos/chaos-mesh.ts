import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client, type Transport } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createEdgeTransport } from "@hlvm/service-cli/src/mesh/create-edge-transport.ts";
import { startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";
import { startLineModel, type LineModel } from "./line-model.ts";
import { ProcessTree } from "./process-tree.ts";

/** A mesh with the model that writes lines, in folders of its own. */
export class ChaosMesh {
  readonly mesh: TestMesh;
  readonly processes: ProcessTree;
  readonly #model: LineModel;
  readonly #folder = mkdtempSync(join(tmpdir(), "hlvm-chaos-"));

  private constructor(mesh: TestMesh, model: LineModel) {
    this.mesh = mesh;
    this.#model = model;
    this.processes = new ProcessTree(mesh.state.supervisorPid);
  }

  /** With as many replicas as HLVM_REPLICAS says, where it is set. @param root of the checkout whose mesh it is */
  static async start(more: Readonly<Record<string, string>> = {}, root?: string): Promise<ChaosMesh> {
    const model = await startLineModel();
    const { HLVM_REPLICAS: replicas } = process.env;
    const settings = { ...more, ...(replicas === undefined ? {} : { HLVM_REPLICAS: replicas }) };
    return new ChaosMesh(await startTestMesh({ ...settings, HLVM_OPENAI_COMPATIBLE_URL: model.url }, root), model);
  }

  /** The names of everything that has a process. */
  get parts(): string[] {
    return this.mesh.state.services.flatMap(({ name, pid }) => (pid === undefined ? [] : [name]));
  }

  get token(): string {
    return readFileSync(this.mesh.state.tokenFile, "utf8").trim();
  }

  /** A connection of its own, as every command of a person has one. */
  connect(): Transport {
    return createEdgeTransport(this.mesh.state.edgeUrl, this.token);
  }

  sessions(transport: Transport = this.connect()): Client<typeof SessionService> {
    return createClient(SessionService, transport);
  }

  audit(): Client<typeof AuditService> {
    return createClient(AuditService, this.connect());
  }

  /** An empty folder to work in. */
  workspace(name: string): string {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    return folder;
  }

  /** @returns the processes that were left behind */
  async stop(): Promise<string[]> {
    this.processes.look();
    await this.mesh.stop();
    await this.#model.close();
    rmSync(this.#folder, { recursive: true, force: true });
    return this.processes.living();
  }
}

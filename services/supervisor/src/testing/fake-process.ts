import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "@hlvm/service/node-flags";
import { serviceProcess } from "../adapters/service-process.ts";
import type { Layer, ManagedProcess } from "../domain/managed-process.ts";

export interface FakeService {
  readonly name: string;
  readonly layer?: Layer;
  readonly port?: number;
  readonly needs?: readonly string[];
  readonly host?: string;
  readonly behaviour?: string;
}

/** A real process that behaves as it is told, with its log in the folder. */
export function fakeService(
  directory: string,
  { name, layer = "back", port = 0, needs = [], host = "127.0.0.1", behaviour = "" }: FakeService,
): ManagedProcess {
  return serviceProcess({
    name,
    layer,
    port,
    needs,
    tokenFile: undefined,
    main: fileURLToPath(new URL("fake-service.ts", import.meta.url)),
    nodeFlags: nodeFlags(name),
    logFile: join(directory, `${name}.log`),
    environment: { PATH: process.env.PATH ?? "", HLVM_HOST: host, FAKE_BEHAVIOUR: behaviour },
  });
}

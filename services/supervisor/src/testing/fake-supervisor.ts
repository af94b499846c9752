import { join } from "node:path";
import { fakeService } from "./fake-process.ts";
import { readSupervisorConfig } from "../config.ts";
import { supervise } from "../supervise.ts";

// The supervisor as it is, with two fake services for a mesh; the second behaves as FAKE_BEHAVIOUR says.
await supervise(
  () => readSupervisorConfig(process.env),
  async ({ directory, edgePort, edgeHost }) => ({
    edge: "edge",
    edgeHost,
    tokenFile: join(directory, "token"),
    controlSocket: join(directory, "run", "control.sock"),
    rotateKeys: async () => {
      if (process.env.FAKE_BEHAVIOUR === "keeps-its-keys") throw new Error("the disk is full");
      return { rotated: [{ service: "edge", kid: "edge.2", replaced: "edge.1" }], replacedCountUntil: "2026-01-01T00:00:00.000Z" };
    },
    backUp: () => Promise.reject(new Error("the disk is full")),
    policy: {
      restart: { firstPauseMilliseconds: 200, maximumPauseMilliseconds: 400, resetAfterMilliseconds: 60_000 },
      health: { intervalMilliseconds: 300, deadlineMilliseconds: 500, maximumMisses: 3 },
    },
    processes: [
      fakeService(directory, { name: "policy", layer: "back" }),
      fakeService(directory, { name: "edge", layer: "front", port: edgePort, host: edgeHost, behaviour: process.env.FAKE_BEHAVIOUR }),
    ],
  }),
);

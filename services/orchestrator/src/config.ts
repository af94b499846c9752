import { choice, integer, text } from "@hlvm/config/setting";
import { readConfig } from "@hlvm/config/read-config";
import { serviceSettings } from "@hlvm/config/service-settings";
import { serviceUrl } from "@hlvm/config/service-url";
import { TOOL_RESULT_LENGTH, type Limits } from "./domain/loop/limits.ts";

/** Every setting of the orchestrator. */
export const settings = {
  ...serviceSettings,
  databaseUrl: text({ variable: "HLVM_DATABASE_URL", description: "The orchestrator's own PostgreSQL database." }),
  tokenSigningKey: text({ variable: "HLVM_TOKEN_SIGNING_KEY", description: "File with the private JWK that signs a run's tokens." }),
  modelGatewayUrl: serviceUrl({ variable: "HLVM_MODEL_GATEWAY_URL", description: "Where the model gateway listens." }),
  sandboxUrl: serviceUrl({ variable: "HLVM_SANDBOX_URL", description: "Where the sandbox service listens." }),
  policyUrl: serviceUrl({ variable: "HLVM_POLICY_URL", description: "Where policy and audit listen." }),
  memoryUrl: serviceUrl({ variable: "HLVM_MEMORY_URL", description: "Where memory listens." }),
  maximumTurns: integer({ variable: "HLVM_MAXIMUM_TURNS", description: "Model calls in a run.", fallback: 20, minimum: 1, maximum: 1_000 }),
  maximumToolCalls: integer({
    variable: "HLVM_MAXIMUM_TOOL_CALLS",
    description: "Tool calls in a turn.",
    fallback: 50,
    minimum: 1,
    maximum: 1_000,
  }),
  maximumIdenticalCalls: integer({
    variable: "HLVM_MAXIMUM_IDENTICAL_CALLS",
    description: "Times in a row that a model may make the very same tool call.",
    fallback: 2,
    minimum: 1,
    maximum: 1_000,
  }),
  modelSilenceSeconds: integer({
    variable: "HLVM_MODEL_SILENCE_SECONDS",
    description: "Seconds without a sign from the model after which a model call has failed.",
    fallback: 120,
    minimum: 1,
    maximum: 3_600,
  }),
  modelSeconds: integer({
    variable: "HLVM_MODEL_SECONDS",
    description: "Seconds that one model call may take.",
    fallback: 900,
    minimum: 1,
    maximum: 3_600,
  }),
  runSeconds: integer({
    variable: "HLVM_RUN_SECONDS",
    description: "Seconds that a run may take.",
    fallback: 2_400,
    minimum: 1,
    maximum: 86_400,
  }),
  maximumRuns: integer({
    variable: "HLVM_MAXIMUM_RUNS",
    description:
      "Runs that one orchestrator has under way at a time, workers among them; others wait until one ends. Those that wait for a person do not count.",
    fallback: 500,
    minimum: 1,
    maximum: 100_000,
  }),
  workerDepth: integer({
    variable: "HLVM_WORKER_DEPTH",
    description: "How deep workers may start workers of their own; 0: a run has none.",
    fallback: 2,
    minimum: 0,
    maximum: 5,
  }),
  maximumWorkers: integer({
    variable: "HLVM_MAXIMUM_WORKERS",
    description: "Workers of one run that are at work at the same time; the others wait.",
    fallback: 8,
    minimum: 1,
    maximum: 100,
  }),
  outputReserveTokens: integer({
    variable: "HLVM_OUTPUT_RESERVE_TOKENS",
    description: "Tokens of a model's window that are kept free for its answer; of a small window half at most.",
    fallback: 4_096,
    minimum: 256,
    maximum: 131_072,
  }),
  compactionPercent: integer({
    variable: "HLVM_COMPACTION_PERCENT",
    description: "Percent of the window less that reserve at which the context is compacted.",
    fallback: 75,
    minimum: 20,
    maximum: 95,
  }),
  parkSeconds: integer({
    variable: "HLVM_PARK_SECONDS",
    description:
      "Seconds after which a run that only waits for a person's answer is put aside, to cost a row and no more, until it is there.",
    fallback: 5,
    minimum: 1,
    maximum: 86_400,
  }),
  inDoubt: choice({
    variable: "HLVM_IN_DOUBT",
    description: "Of a call of which nobody knows whether it took effect: tell the model so, or ask a person whether to make it once more.",
    choices: ["tell", "ask"],
    fallback: "tell",
  }),
  memoryModel: text({
    variable: "HLVM_MEMORY_MODEL",
    description:
      "provider/name of the model that labels sessions and finds what facts are about, for those who let it; none: nobody asks one.",
    fallback: "",
  }),
  memoryCallsPerMinute: integer({
    variable: "HLVM_MEMORY_CALLS_PER_MINUTE",
    description: "How often that model is asked in a minute, for everybody together.",
    fallback: 10,
    minimum: 1,
    maximum: 1_000,
  }),
  serviceWaitSeconds: integer({
    variable: "HLVM_SERVICE_WAIT_SECONDS",
    description: "Seconds that a run waits for a service that is away, such as policy or the sandbox, before it is stopped.",
    fallback: 120,
    minimum: 1,
    maximum: 3_600,
  }),
} as const;

export type Config = ReturnType<typeof readOrchestratorConfig>;

export function readOrchestratorConfig(environment: NodeJS.ProcessEnv) {
  return readConfig(settings, environment);
}

/** What a run may use up at most; some ask for less. */
export function runLimits(config: Config): Limits {
  return {
    turns: config.maximumTurns,
    toolCallsPerTurn: config.maximumToolCalls,
    identicalCallsInARow: config.maximumIdenticalCalls,
    modelSilenceMilliseconds: config.modelSilenceSeconds * 1_000,
    modelMilliseconds: config.modelSeconds * 1_000,
    runMilliseconds: config.runSeconds * 1_000,
    serviceMilliseconds: config.serviceWaitSeconds * 1_000,
    parkMilliseconds: config.parkSeconds * 1_000,
    toolResultLength: TOOL_RESULT_LENGTH,
    outputReserveTokens: config.outputReserveTokens,
    compactionPercent: config.compactionPercent,
  };
}

import { describe, expect, it } from "vitest";
import { serviceEnvironment } from "./service-environment.ts";

const PERSON = {
  PATH: "/bin",
  HOME: "/home/ada",
  SECRET_OF_MINE: "x",
  NODE_OPTIONS: "--inspect",
  HLVM_RUN_SECONDS: "60",
  HLVM_TOKEN: "x",
  HLVM_OPENAI_COMPATIBLE_API_KEY: "x",
  HLVM_LLAMA_URLS: "http://user:password@127.0.0.1",
  HLVM_HOST: "0.0.0.0",
  ANTHROPIC_API_KEY: "x",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=x",
  OTEL_SERVICE_NAME: "mine",
};

describe("serviceEnvironment", () => {
  it("hands on the machine's variables, the settings and where telemetry goes, nothing confidential and nothing else", () => {
    expect(serviceEnvironment(PERSON, [], { HLVM_HOST: "127.0.0.1" })).toEqual({
      PATH: "/bin",
      HOME: "/home/ada",
      HLVM_RUN_SECONDS: "60",
      HLVM_HOST: "127.0.0.1",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
    });
  });

  it("hands a key to the service that it was named for", () => {
    expect(serviceEnvironment(PERSON, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"], {})).toMatchObject({ ANTHROPIC_API_KEY: "x" });
    expect(serviceEnvironment(PERSON, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"], {})).not.toHaveProperty("OPENAI_API_KEY");
  });
});

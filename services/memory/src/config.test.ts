import { expect, it } from "vitest";
import { readMemoryConfig } from "./config.ts";

const needed = {
  HLVM_TOKEN_PUBLIC_KEYS: "/keys.json",
  HLVM_GRANT_PUBLIC_KEYS: "/keys.json",
  HLVM_DATABASE_URL: "postgresql://x@/x",
  HLVM_MEILISEARCH_KEY: "key",
};

it("refuses a URL of Meilisearch that is none at the start", () => {
  expect(() => readMemoryConfig({ ...needed, HLVM_MEILISEARCH_URL: "127.0.0.1:7700" })).toThrow(
    "HLVM_MEILISEARCH_URL must be a URL that begins with http:// or https://",
  );
  expect(readMemoryConfig({ ...needed, HLVM_MEILISEARCH_URL: "http://127.0.0.1:7700" }).meilisearchUrl).toBe("http://127.0.0.1:7700");
});

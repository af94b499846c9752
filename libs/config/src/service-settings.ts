import { integer, text } from "./setting.ts";

/** What every service behind the edge reads, and in the same way. */
export const serviceSettings = {
  host: text({ variable: "HLVM_HOST", description: "Address to listen on.", fallback: "127.0.0.1" }),
  port: integer({
    variable: "HLVM_PORT",
    description: "Port to listen on; 0 takes any free one.",
    fallback: 0,
    minimum: 0,
    maximum: 65_535,
  }),
  connectionAgeSeconds: integer({
    variable: "HLVM_CONNECTION_AGE_SECONDS",
    description: "After how many seconds a caller is told to connect anew, to find replicas that have come since.",
    fallback: 180,
    minimum: 1,
    maximum: 86_400,
  }),
  tokenPublicKeys: text({ variable: "HLVM_TOKEN_PUBLIC_KEYS", description: "File with the JWK set of those who may mint tokens." }),
};

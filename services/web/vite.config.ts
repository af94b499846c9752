import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const COMPRESSED = /\.(?:js|css|svg|html)$/;
const validateStub = fileURLToPath(new URL("src/api/validate-stub.ts", import.meta.url));

/** Writes `.br` and `.gz` beside each file, so that the edge compresses nothing. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  writeBundle({ dir }) {
    for (const entry of readdirSync(dir!, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !COMPRESSED.test(entry.name)) continue;
      const file = `${entry.parentPath}/${entry.name}`;
      const bytes = readFileSync(file);
      writeFileSync(`${file}.br`, brotliCompressSync(bytes));
      writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), compressed],
  resolve: {
    // The server validates; what describes the rules would be a third of the contracts' code.
    alias: { "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js": validateStub },
  },
  build: {
    target: ["chrome130", "firefox130", "safari18"],
    // Nothing as a data: URL, which the content policy refuses for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: true,
  },
  server: { proxy: { "^/(hlvm\\.|auth/)": { target: "http://127.0.0.1:11435" } } },
});

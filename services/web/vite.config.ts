import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { FieldOptionsSchema, FileDescriptorProtoSchema, type DescriptorProto, type FieldOptions } from "@bufbuild/protobuf/wkt";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const COMPRESSED = /\.(?:js|css|svg|html)$/;
const DESCRIPTOR = /(?<=fileDesc\(")[A-Za-z0-9+/]+(?=")/;
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

/** Takes the rules for values out of the contracts: the server validates, and they are a fifth of the contracts' code. */
const withoutRules: Plugin = {
  name: "without-rules",
  transform(code, id) {
    return id.endsWith("_pb.ts") ? { code: code.replace(DESCRIPTOR, stripped), map: null } : undefined;
  },
};

function stripped(descriptor: string): string {
  const file = fromBinary(FileDescriptorProtoSchema, base64Decode(descriptor));
  for (const message of file.messageType) stripMessage(message);
  return base64Encode(toBinary(FileDescriptorProtoSchema, file), "std_raw");
}

/** Rules are extensions, which nothing here knows. */
function stripMessage({ field, nestedType, oneofDecl }: DescriptorProto): void {
  for (const one of field) if (one.options !== undefined) one.options = withoutUnknown(one.options);
  for (const one of oneofDecl) one.options = undefined;
  for (const nested of nestedType) stripMessage(nested);
}

function withoutUnknown(options: FieldOptions): FieldOptions | undefined {
  options.$unknown = undefined;
  return toBinary(FieldOptionsSchema, options).length === 0 ? undefined : options;
}

export default defineConfig({
  plugins: [withoutRules, react(), compressed],
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
    // What most pages show in one chunk: a chunk for each combination of pages compresses worse and cost 9 KB at a first load.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "parts", test: /src\/parts\/(?!markdown|growing|command-output|code-lines|text-hunks)/ }] },
      },
    },
  },
  server: { proxy: { "^/(hlvm\\.|auth/)": { target: "http://127.0.0.1:11435" } } },
});

// A plugin of buf: the words of every enum as they are written outside protobuf, in a file that costs next to nothing to load.
// A command line that lists them in its help needs no contracts for that.
import { createEcmaScriptPlugin, runNodeJs } from "@bufbuild/protoplugin";

runNodeJs(
  createEcmaScriptPlugin({
    name: "protoc-gen-words",
    version: "v1",
    generateTs: (schema) => {
      for (const file of schema.files) {
        const enums = [...file.enums, ...file.messages.flatMap(({ nestedEnums }) => nestedEnums)];
        if (enums.length === 0 || !file.proto.package.startsWith("hlvm.")) continue;
        const words = schema.generateFile(`${file.name}_words.ts`);
        words.preamble(file);
        for (const { name, values } of enums) {
          const specified = values.filter(({ number }) => number !== 0).map(({ localName }) => JSON.stringify(localName.toLowerCase()));
          words.print(`export const ${name[0].toLowerCase()}${name.slice(1)}Words = [${specified.join(", ")}] as const;`);
        }
      }
    },
  }),
);

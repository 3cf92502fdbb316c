// SPDX-License-Identifier: Apache-2.0
//
// node build.mjs FOLDER: bundles src/ into FOLDER, as a browser gets it. With --watch it stays and
// does so after every change.

import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as esbuild from "esbuild";

const out = process.argv[2];
if (!out) throw new Error("build.mjs FOLDER");

const options = {
  entryPoints: { app: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome111", "firefox113", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  preserveSymlinks: true,
  legalComments: "none",
  chunkNames: "[name]-[hash]",
  logLevel: "warning",
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const file of ["index.html", "icon.svg"]) await copyFile(join("src", file), join(out, file));
if (process.argv.includes("--watch")) await (await esbuild.context(options)).watch();
else await esbuild.build(options);

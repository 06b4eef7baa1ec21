import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { RegisterCleanup } from "./temp-folder.ts";

/** A state directory of 8 MB that the test can fill. */
export function mountSmallStateDir(file: string, onCleanup: RegisterCleanup = onTestFinished) {
  const folder = join(dirname(file), ".herdctl");
  mkdirSync(folder);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", folder]);
  onCleanup(() => void execFileSync("umount", ["--lazy", folder]));
  const ballast = join(folder, "ballast");
  return {
    fill: () => {
      for (const size of [1 << 20, 1 << 14, 1 << 10, 1]) {
        try {
          for (let index = 0; index < 16; index += 1)
            writeFileSync(ballast, Buffer.alloc(size), { flag: "a" });
        } catch {
          // The disk is full for chunks of this size.
        }
      }
    },
    free: () => rmSync(ballast, { force: true }),
  };
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";
import { minimalEnv, runHerdctl } from "./run-herdctl.ts";

const fleetFile = `version: 1
fleet: { name: shop }
agents: [{ name: coder }]
`;

test("lists everything first, removes it with --yes, and keeps the rest", async () => {
  const cwd = tempFolderWith({ "herdctl.yaml": fleetFile, ".herdctl/logs/fleet.log": "" });
  const { HOME: home = "" } = minimalEnv();
  const bashrc = join(home, ".bashrc");
  const completion = "source <(herdctl completion bash)          # in ~/.bashrc";
  const own = "alias ll='ls -l'\n# herdctl completion bash is installed below\n";
  writeFileSync(bashrc, `${own}${completion}\nexport A=b\n`);
  mkdirSync(join(home, ".config/systemd/user"), { recursive: true });
  const env = { HOME: home, DOCKER_HOST: "unix:///no/such.sock" };
  const herdctl = (...args: string[]) => runHerdctl(args, { cwd, env });

  const listed = await herdctl("uninstall", "--state");
  expect(listed).toMatchObject({ code: 4, stderr: "" });
  expect(listed.stdout).toContain(`completion ${bashrc}, line 3`);
  expect(listed.stdout).toContain(`state      ${join(cwd, ".herdctl")}`);
  expect(listed.stdout).toContain("Nothing was removed.");
  expect(readFileSync(bashrc, "utf8")).toContain(completion);

  const started = await herdctl("start", "--detach", "--json");
  const { pid } = JSON.parse(started.stdout);
  const removed = await herdctl("uninstall", "--yes", "--state", "--json");
  expect(JSON.parse(removed.stdout)).toMatchObject({
    removed: true,
    items: [
      { kind: "fleet", description: `process ${pid}` },
      { kind: "completion" },
      { kind: "state" },
    ],
  });
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(readFileSync(bashrc, "utf8")).toBe(`${own}export A=b\n`);
  expect(existsSync(join(cwd, ".herdctl"))).toBe(false);
  expect(existsSync(join(cwd, "herdctl.yaml"))).toBe(true);

  const again = await herdctl("uninstall");
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toContain("Nothing is installed for this fleet.");
});

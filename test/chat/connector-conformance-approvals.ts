import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { wideTest } from "../support/test-subset.ts";
import { type ChatHarness, chatHarnessFactory, type OpenChat } from "./chat-harness.ts";

const agent = "permission_mode: default";
const longContent = `${"a < b && c\n".repeat(600)}THE END \u202e`;

function writeScript(content: string): Script {
  const input = { file_path: "long.txt", content };
  const replies = [{ tools: [{ name: "Write", input }] }, "Done."];
  return { rules: [{ match: { prompt: "/please/" }, replies }] };
}

/** Permission requests, and who may answer them. */
export function describeApprovals(open: OpenChat): void {
  const startChat = chatHarnessFactory(open);

  describe("approvals", () => {
    const script: Script = {
      rules: [
        {
          match: { prompt: "/please/" },
          replies: [{ tools: [{ name: "Bash", input: { command: "touch pressed" } }] }, "Done."],
        },
      ],
    };
    const question = (harness: ChatHarness, room: string) =>
      waitUntil("the question", async () =>
        harness.chat.posts(room).find((p) => p.buttons.length > 0),
      );

    wideTest("counts an approver's press once and shows who answered", async () => {
      const harness = await startChat({ script, agent });
      const room = harness.chat.channel("general");
      harness.chat.say(room, "ann", `${harness.chat.mention} please`);
      const asked = await question(harness, room);
      expect(asked.text).toContain("touch pressed");
      expect(await harness.chat.press(room, asked.id, "Allow once", "ann")).toContain("Allowed");
      await waitUntil("the answer", async () =>
        harness.chat.posts(room).some((p) => p.text.includes("Done.")),
      );
      expect(existsSync(join(harness.harness.workspace, "pressed"))).toBe(true);
      const after = await waitUntil("the buttons to go", async () =>
        harness.chat.posts(room).find((p) => p.id === asked.id && p.buttons.length === 0),
      );
      expect(after.text).toContain(harness.chat.userId("ann"));
    });

    test("ignores a stranger's press and accepts an approver's denial", async () => {
      const harness = await startChat({ script, agent });
      const room = harness.chat.channel("general");
      harness.chat.say(room, "ann", `${harness.chat.mention} please`);
      const asked = await question(harness, room);
      expect(await harness.chat.press(room, asked.id, "Allow once", "mallory")).toContain(
        "Only the approvers",
      );
      expect(await harness.fleet.approvals.list()).toHaveLength(1);
      expect(await harness.chat.press(room, asked.id, "Deny", "ann")).toContain("Denied");
      await waitUntil("the answer", async () =>
        harness.chat.posts(room).some((p) => p.text.includes("Done.")),
      );
      expect(existsSync(join(harness.harness.workspace, "pressed"))).toBe(false);
    });

    test("attaches a long request in full before it can be allowed", async () => {
      const harness = await startChat({ script: writeScript(longContent), agent });
      const room = harness.chat.direct("dora");
      harness.chat.say(room, "dora", "please");
      const asked = await question(harness, room);
      expect(asked.buttons).toEqual(["Allow once", "For this job", "Deny"]);
      expect(asked.text).toMatch(/more characters\]/);
      const [file] = harness.chat.posts(room).flatMap(({ files }) => files);
      expect(asked.text).toContain(`\`${file?.name}\``);
      expect(file?.content).toContain("THE END \\u202e");
      expect(file?.content).toContain("file_path: ");
      expect(await harness.chat.press(room, asked.id, "Allow once", "dora")).toContain("Allowed");
      const written = join(harness.harness.workspace, "long.txt");
      await waitUntil("the file", async () => existsSync(written));
      expect(readFileSync(written, "utf8")).toBe(longContent);
    });

    test("only lets a long request be denied when it cannot be shown in full", async () => {
      const harness = await startChat({ script: writeScript(longContent), agent });
      harness.chat.refuseFiles();
      const room = harness.chat.direct("dora");
      harness.chat.say(room, "dora", "please");
      const asked = await question(harness, room);
      expect(asked.buttons).toEqual(["Deny"]);
      expect(asked.text).toContain("This is not the whole request");
      expect(asked.text).toMatch(/\/inbox|herdctl approvals/);
      expect(await harness.chat.press(room, asked.id, "Deny", "dora")).toContain("Denied");
    });
  });
}

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { wideTest } from "../support/width.ts";
import { type ChatStage, chatStageOf, type OpenChat } from "./chat-stage.ts";

const agent = "permission_mode: default";
const longContent = `${"a < b && c\n".repeat(600)}THE END \u202e`;

function writing(content: string): Script {
  const input = { file_path: "long.txt", content };
  const replies = [{ tools: [{ name: "Write", input }] }, "Done."];
  return { rules: [{ match: { prompt: "/please/" }, replies }] };
}

/** Requests for permission, and who may answer them. */
export function approvals(open: OpenChat): void {
  const chatStage = chatStageOf(open);

  describe("approvals", () => {
    const script: Script = {
      rules: [
        {
          match: { prompt: "/please/" },
          replies: [{ tools: [{ name: "Bash", input: { command: "touch pressed" } }] }, "Done."],
        },
      ],
    };
    const question = (on: ChatStage, room: string) =>
      until("the question", async () => on.chat.posts(room).find((p) => p.buttons.length > 0));

    wideTest("an approver's press counts, once; the question shows who answered it", async () => {
      const on = await chatStage({ script, agent });
      const room = on.chat.channel("general");
      on.chat.say(room, "ann", `${on.chat.mention} please`);
      const asked = await question(on, room);
      expect(asked.text).toContain("touch pressed");
      expect(await on.chat.press(room, asked.id, "Allow", "ann")).toContain("Allowed");
      await until("the answer", async () =>
        on.chat.posts(room).some((p) => p.text.includes("Done.")),
      );
      expect(existsSync(join(on.on.workspace, "pressed"))).toBe(true);
      const after = await until("the buttons to go", async () =>
        on.chat.posts(room).find((p) => p.id === asked.id && p.buttons.length === 0),
      );
      expect(after.text).toContain(on.chat.userId("ann"));
    });

    test("a stranger's press does nothing; an approver's no is a no", async () => {
      const on = await chatStage({ script, agent });
      const room = on.chat.channel("general");
      on.chat.say(room, "ann", `${on.chat.mention} please`);
      const asked = await question(on, room);
      expect(await on.chat.press(room, asked.id, "Allow", "mallory")).toContain(
        "Only the approvers",
      );
      expect(await on.fleet.approvals()).toHaveLength(1);
      expect(await on.chat.press(room, asked.id, "Deny", "ann")).toContain("Denied");
      await until("the answer", async () =>
        on.chat.posts(room).some((p) => p.text.includes("Done.")),
      );
      expect(existsSync(join(on.on.workspace, "pressed"))).toBe(false);
    });

    test("a long request is in a file, to its last character, before it can be allowed", async () => {
      const on = await chatStage({ script: writing(longContent), agent });
      const room = on.chat.direct("dora");
      on.chat.say(room, "dora", "please");
      const asked = await question(on, room);
      expect(asked.buttons).toEqual(["Allow", "Deny"]);
      expect(asked.text).toMatch(/more characters\]/);
      const [file] = on.chat.posts(room).flatMap(({ files }) => files);
      expect(asked.text).toContain(`\`${file?.name}\``);
      expect(file?.content).toContain("THE END \\u202e");
      expect(file?.content).toContain("file_path: ");
      expect(await on.chat.press(room, asked.id, "Allow", "dora")).toContain("Allowed");
      const written = join(on.on.workspace, "long.txt");
      await until("the file", async () => existsSync(written));
      expect(readFileSync(written, "utf8")).toBe(longContent);
    });

    test("where a long request cannot be shown, it can only be denied", async () => {
      const on = await chatStage({ script: writing(longContent), agent });
      on.chat.refuseFiles();
      const room = on.chat.direct("dora");
      on.chat.say(room, "dora", "please");
      const asked = await question(on, room);
      expect(asked.buttons).toEqual(["Deny"]);
      expect(asked.text).toContain("This is not all of it");
      expect(asked.text).toMatch(/\/inbox|herdctl approvals/);
      expect(await on.chat.press(room, asked.id, "Deny", "dora")).toContain("Denied");
    });
  });
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatStageOf, type OpenChat } from "./chat-stage.ts";

/** Text of a chat is given to the model as it was written, on every platform. */
export function prompts(open: OpenChat): void {
  const chatStage = chatStageOf(open);

  describe("what is written", () => {
    test("a message that names a file of the host does not bring the file", async () => {
      const { on, chat, answered } = await chatStage({ agent: "prompts: expanded" });
      const secret = join(on.root, "secret.txt");
      writeFileSync(secret, "canary of the file\n");
      const room = chat.direct("dora");
      chat.say(room, "dora", `@${secret} /init`);
      await answered(room);
      // The second turn goes to the `claude` that waits.
      chat.say(room, "dora", `again @${secret}`);
      await answered(room, 2);
      const requests = on.rehearsal.ledger.main;
      expect(requests[0]?.prompt).toContain(`@${secret} /init`);
      expect(requests.at(-1)?.prompt).toContain(`again @${secret}`);
      expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain("canary of the file");
    });
  });
}

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatHarnessFactory, type OpenChat } from "./chat-harness.ts";

/** The text of a chat reaches the model as written, on every platform. */
export function describePrompts(open: OpenChat): void {
  const startChat = chatHarnessFactory(open);

  describe("chat prompts", () => {
    test("does not attach a host file that a message names", async () => {
      const { harness, chat, waitForAnswers } = await startChat({ agent: "prompts: expanded" });
      const secret = join(harness.root, "secret.txt");
      writeFileSync(secret, "canary of the file\n");
      const room = chat.direct("dora");
      chat.say(room, "dora", `@${secret} /init`);
      await waitForAnswers(room);
      // The second turn uses the waiting `claude` process.
      chat.say(room, "dora", `again @${secret}`);
      await waitForAnswers(room, 2);
      const requests = harness.rehearsal.ledger.main;
      expect(requests[0]?.prompt).toContain(`@${secret} /init`);
      expect(requests.at(-1)?.prompt).toContain(`again @${secret}`);
      expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain("canary of the file");
    });
  });
}

// A run whose callback throws must end, and the program must exit by itself.
import { runAgent } from "@herdctl/core";

const [stateDir, working_directory, claudePath] = process.argv.slice(2);
const onMessage = () => {
  throw new Error("the caller's mistake");
};
const agent = { name: "one", runtime: "cli", working_directory };
const { success, error } = await runAgent({
  agent,
  prompt: "hello",
  stateDir,
  claudePath,
  onMessage,
});
process.stdout.write(JSON.stringify({ success, name: error.name, cause: error.cause.message }));

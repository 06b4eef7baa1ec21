// Reads the finished job from standard input and posts its report as a comment. Without a token it
// writes the comment to reviews.md.
import { appendFileSync } from "node:fs";
import { json } from "node:stream/consumers";

const { job } = await json(process.stdin);
const { pull_request, verdict, findings } = job.report;
const comment = [
  `**Review by ${job.agent}: ${verdict}**`,
  ...findings.map(
    ({ file, line, what }) => `- ${quoted(line ? `${file}:${line}` : file)} ${plain(what)}`,
  ),
].join("\n\n");

const { GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL } = process.env;
if (GITHUB_TOKEN) await post();
else appendFileSync("reviews.md", `## Pull request ${pull_request}\n\n${comment}\n\n`);

async function post() {
  const where = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${pull_request}/comments`;
  const answer = await fetch(where, {
    method: "POST",
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
    body: JSON.stringify({ body: comment }),
  });
  // A failed hook is retried.
  if (!answer.ok) throw new Error(`GitHub answered ${answer.status}`);
}

/** The text may come from the pull request, so mentions and images are disabled. */
function plain(text) {
  return text.replaceAll("@", "@\u200b").replaceAll(/[<>[\]]/g, "\\$&");
}

function quoted(text) {
  return `\`${text.replaceAll("`", "'")}\``;
}

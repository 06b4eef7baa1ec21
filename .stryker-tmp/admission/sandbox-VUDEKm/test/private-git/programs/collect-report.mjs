// Imports the commits of a run and prints its report.
import "../../store/programs/typescript-loader.mjs";

const [folder, jobId] = process.argv.slice(2);
const { collectGit } = await import(
  "../../../packages/core/src/private-git/private-git-lifecycle.ts"
);
const collected = await collectGit(folder, jobId);
process.stdout.write(JSON.stringify(collected));

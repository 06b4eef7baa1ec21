const pickup =
  "The transactions of a pickup go to PostgreSQL and are flushed there: it takes more than twice the time on the fleet's own state.";

/** Why a bound that is missed is missed, as far as profiles tell; shown only where it is. */
export const explanations = {
  "job at the socket, CLI":
    "What differs from run to run is `claude`: its time has a spread of a third, and 91 samples leave some 2 to 3 % of doubt. Our part is the way to the spawn (see below), the gateway between it and the model, and the record after its last instruction.",
  "job at the socket, SDK":
    "As with the CLI; and a runner has been through the SDK once when its job comes, the process of the bare `query()` here dozens of times.",
  "trigger --wait":
    "The job at the socket and one more start of Node: see `herdctl status` below for that part alone.",
  "trigger to spawn":
    "Trace of the fail-points, at 538 ms for the job: 2 ms until the request is read and checked, 3 until the job is durable, 2 until its run is prepared, 2 for the attempt's transaction, 1 until the runner has the word, 1 for its claim, 1 until it tells its launcher, and 1 until that has become `claude`.",
  "job in a container":
    "Trace (`node bench/engine-trace.mjs contained`, at 801 ms for the same job on the host): the engine takes 19 ms to make the container, 277 to start it, 98 from the end of `claude`'s streams until it calls the container ended, and 15 to remove it.",
  "job in a spare container":
    "Trace (`node bench/engine-trace.mjs spare`, at 416 ms for the same job on the host): 16 ms from the first question to the engine until `claude` is started, 5 of them its answers; then 64 ms from the end of `claude`'s streams until the engine calls the container ended, and 6 to remove it. That end is waited for, since it tells whether the memory ran out; on the host a job is over with the last instruction of `claude`.",
  "a turn in a live conversation":
    "Trace of the same turn: 12 ms until the attempt is on record, 45 ms in `claude` itself (it begins every turn with its init, 25 ms, before it asks the model), 10 ms until the outcome is on record, 5 until whoever waits has it.",
  "messages to the log":
    "CPU profile: half of the time the process is idle and waits for the one write that each message is awaited for, through Node's threads; a write at once would be quicker, but a disk that hangs would then hold up the word to stop as well.",
  "pickup, one node on PostgreSQL": pickup,
  "pickup, three nodes on PostgreSQL": pickup,
  "pickup, by another node than was asked":
    "What a node decides for another one goes there as an order of pg-boss: one more transaction, a notification and a fetch before it is begun, which the same job is spared where it was asked for.",
  "costs, 1,000,000 shared jobs":
    "It adds up one row a day and agent: 300 of them here, ten beside it. It grows with the days that are asked for, not with the jobs.",
  "herdctl --help":
    "CPU profile: some 30 ms are Node's loader of modules at work, which `node -e 0` does not need, and 13 our one file with commander in it.",
  "load 1000 agents":
    "Half of it is reading and parsing the same files, which the figure beside it shows; the rest is checking the documents against their schemas with the places of every mistake at hand.",
};

/** Why a bound that is missed is missed, as far as profiles tell; shown only where it is. */
export const explanations = {
  "job at the socket, CLI":
    "Profile of a quiet machine: about 15 ms from the request to the start of `claude`, about 12 ms from its exit to the record (5 of them the transaction); the rest is `claude` sharing the processors with its runner and the gateway.",
  "job at the socket, SDK":
    "As with the CLI; on top of it the SDK itself is loaded in the runner, which the bare `query()` here has behind it when its clock starts.",
  "trigger --wait":
    "The job at the socket and one more start of Node: see `herdctl status` below for that part alone.",
  "trigger to spawn":
    "Profile of a quiet machine: two durable transactions (the job, its attempt), the order to the spare, and the spawn itself, which the bare figure beside it has as well.",
};

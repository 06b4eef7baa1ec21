/*
 * Where coverage is wanted, programs that tests start count what is run of them. Node hands this on
 * from process to process, whatever environment they are given.
 */
const folder = process.env.HERDCTL_COUNTED_IN;
if (folder !== undefined) process.env.NODE_V8_COVERAGE = folder;

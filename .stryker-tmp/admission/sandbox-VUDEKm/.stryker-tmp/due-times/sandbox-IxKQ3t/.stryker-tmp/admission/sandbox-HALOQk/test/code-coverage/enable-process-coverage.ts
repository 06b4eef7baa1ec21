/*
 * With coverage enabled, programs that tests start collect coverage as well. Node passes this
 * variable on to child processes even if they get another environment.
 */
const coverageFolder = process.env.HERDCTL_COUNTED_IN;
if (coverageFolder !== undefined) process.env.NODE_V8_COVERAGE = coverageFolder;

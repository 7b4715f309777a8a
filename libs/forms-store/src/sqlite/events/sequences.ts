/** SQL of the last sequence in the log of a row of `eventLogs`. Index: events_by_sequence. */
export const lastSequence = 'SELECT max(sequence) FROM events WHERE organizationId = eventLogs.organizationId'

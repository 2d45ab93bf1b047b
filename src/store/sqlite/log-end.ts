/** SQL for the number of the last event: SQLite's own counter of the table. It never goes back, even when events are erased. */
export const LOG_END = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)";

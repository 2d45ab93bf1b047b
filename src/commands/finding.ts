/** The result of one check. A message about a problem ends with what the operator can do. */
export interface Finding {
	ok: boolean;
	/** What was checked. */
	subject: string;
	message: string;
}

export function passed(subject: string, message: string): Finding {
	return { ok: true, subject, message };
}

/**
 * @param problem with or without its full stop
 * @param remedy a sentence that says what to do
 */
export function failed(subject: string, problem: string, remedy: string): Finding {
	return { ok: false, subject, message: `${problem.trim().replace(/\.$/, '')}. ${remedy}` };
}

/** @param message already says what to do, such as that of an AppError */
export function failedWith(subject: string, message: string): Finding {
	return { ok: false, subject, message };
}

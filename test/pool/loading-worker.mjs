// Returns the stack of the evaluation of this module, which shows how it was loaded.
const { stack } = new Error('loaded');

export default function load() {
	return { ok: true, value: stack };
}

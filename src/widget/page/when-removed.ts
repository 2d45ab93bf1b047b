/**
 * Calls a function once when a node leaves the page by any means. Moving it within the page does not count.
 * Observes only the children of its ancestors, so changes elsewhere on the page cost nothing.
 * @param signal stops the observation
 */
export function whenRemoved(node: Node, onRemoved: () => void, signal: AbortSignal): void {
	const observer = new MutationObserver(() => check());
	const check = () => {
		observer.disconnect();
		if (signal.aborted) return;
		if (!node.isConnected) return onRemoved();
		for (let parent = node.parentNode; parent; parent = parent.parentNode)
			observer.observe(parent, { childList: true });
	};
	signal.addEventListener('abort', () => observer.disconnect());
	check();
}

/** What a client does next. */
export type ActionName =
	| 'send'
	| 'sendToNew'
	| 'repeat'
	| 'stop'
	| 'follow'
	| 'disconnect'
	| 'takeOver'
	| 'release'
	| 'say'
	| 'rename'
	| 'archive'
	| 'reopen'
	| 'purge'
	| 'markRead'
	| 'kill'
	| 'drain'
	| 'pass a day'
	/** Of a node of a cluster. */
	| 'freeze'
	| 'cut off';

export { CONTENTS, type Contents, folderName, type Part } from './contents.ts';
export { keepInUse } from './old-versions.ts';
export { type PlaceSources, places } from './places.ts';
export { type Binary, settle } from './settle.ts';
export { Unusable } from './unusable.ts';

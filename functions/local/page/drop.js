/** Files that are dropped anywhere on the page, folders with all that is in them. */

import { find } from './dom.js';

/** @typedef {{file: File, path: string}} Dropped */

/** @param {(files: Dropped[]) => void} take */
export function acceptDrops(take) {
  const hint = find('#drop-hint');
  let depth = 0; // dragenter and dragleave come for every element that is crossed
  const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files');
  const show = (/** @type {number} */ change) => {
    depth = Math.max(0, depth + change);
    hint.hidden = depth === 0;
  };
  addEventListener('dragenter', (event) => hasFiles(event) && show(1));
  addEventListener('dragleave', (event) => hasFiles(event) && show(-1));
  addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
  addEventListener('drop', async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(0);
    take(await filesOf(/** @type {DataTransfer} */ (event.dataTransfer)));
  });
}

/**
 * @param {DataTransfer} transfer
 * @returns {Promise<Dropped[]>}
 */
async function filesOf(transfer) {
  // entries are gone after the first await: take all of them before
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.some(Boolean)) return (await Promise.all(entries.map((entry) => (entry ? walk(entry, '') : [])))).flat();
  return [...transfer.files].map((file) => ({ file, path: file.name }));
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} folder
 * @returns {Promise<Dropped[]>} Without hidden files: those that desktops leave in folders are nobody's documents.
 */
async function walk(entry, folder) {
  const path = folder + entry.name;
  if (folder && entry.name.startsWith('.')) return [];
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
    return [{ file, path }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    // a folder is read in batches of 100, the last one empty
    const batch = /** @type {FileSystemEntry[]} */ (await new Promise((resolve, reject) => reader.readEntries(resolve, reject)));
    if (!batch.length) return found;
    for (const child of batch) found.push(...(await walk(child, `${path}/`)));
  }
}

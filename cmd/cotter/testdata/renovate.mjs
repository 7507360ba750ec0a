// Prints what Renovate's regex manager extracts from a lock with the managers of a preset:
//
//	node renovate.mjs DIR_OF_RENOVATE PRESET LOCK
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [dir, preset, lock] = process.argv.slice(2);
const manager = path.resolve(dir, 'dist/modules/manager/custom/regex/index.js');
const { extractPackageFile } = await import(pathToFileURL(manager));
const content = fs.readFileSync(lock, 'utf8');
for (const config of JSON.parse(fs.readFileSync(preset, 'utf8')).customManagers) {
  const found = await extractPackageFile(content, '.terraform.lock.hcl', config);
  for (const d of found?.deps ?? []) {
    const host = (d.registryUrls?.[0] ?? '').replace(/^https:\/\/|\/$/g, '');
    console.log([d.depName, d.currentValue, d.packageName, d.datasource, host].join(' '));
  }
}

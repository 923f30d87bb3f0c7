// Bundles the extension with the packages that it uses into one file, and writes the licenses of these packages.
'use strict';

const fs = require('fs');
const path = require('path');
const esbuild = require('esbuild');

const DIST = path.join(__dirname, 'dist');

/** The folders of the packages that files of a bundle come from. */
function packages(inputs) {
    const folders = Object.keys(inputs).map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]);
    return [...new Set(folders.filter(Boolean))].sort();
}

/** The name, the version and the license of a package. */
function license(folder) {
    const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = fs.readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) {
        throw new Error(`${name} has no file with its license`);
    }
    return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(folder, file), 'utf8').trim()}\n`;
}

fs.rmSync(DIST, { recursive: true, force: true });
const { metafile } = esbuild.buildSync({
    absWorkingDir: __dirname,
    entryPoints: ['extension.js'],
    outfile: 'dist/extension.js',
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    // The editor has it.
    external: ['vscode'],
    metafile: true,
    logLevel: 'warning',
});
const bundled = packages(metafile.inputs).map((folder) => license(path.join(__dirname, folder)));
fs.writeFileSync(path.join(DIST, 'licenses.txt'), bundled.join(`\n${'-'.repeat(80)}\n\n`));
fs.copyFileSync(path.join(__dirname, '../../LICENSE'), path.join(__dirname, 'LICENSE'));

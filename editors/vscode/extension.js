// The client of the language server `nnef-flatten lsp`. `build.js` bundles it with the packages that it uses.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;
/** The last start that was asked for. */
let last = Promise.resolve();

/** Starts the server with the settings as they are now. */
async function start() {
    const settings = vscode.workspace.getConfiguration('nnef-flatten');
    const command = settings.get('path', 'nnef-flatten');
    const args = ['lsp', ...settings.get('arguments', [])];
    const languages = ['nnef', 'onnxtxt'];
    client = new LanguageClient(
        'nnef-flatten',
        'NNEF',
        // Standard input and output.
        { command, args },
        { documentSelector: languages.map((language) => ({ language })) },
    );
    try {
        await client.start();
    } catch (error) {
        client = undefined;
        vscode.window.showErrorMessage(
            `\`${command} lsp\` does not start (${error.message}). Set nnef-flatten.path, or install the command.`,
        );
    }
}

async function stop() {
    const running = client;
    client = undefined;
    await running?.stop();
}

/** Starts anew, after what is under way: a client that is just being started cannot be stopped. */
function restart() {
    // A server that does not end in time does not keep the next one from starting.
    last = last.then(stop).catch(() => {}).then(start);
    return last;
}

async function activate(context) {
    context.subscriptions.push(
        vscode.commands.registerCommand('nnef-flatten.restart', restart),
        vscode.workspace.onDidChangeConfiguration((change) => {
            if (change.affectsConfiguration('nnef-flatten')) {
                restart();
            }
        }),
    );
    await restart();
}

module.exports = { activate, deactivate: () => last.then(stop) };

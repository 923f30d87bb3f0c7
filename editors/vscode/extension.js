// The client of the language server `nnef-flatten lsp`. Plain JavaScript: nothing is compiled or bundled.
'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

/** Starts the server with the settings as they are now. */
async function start() {
    const settings = vscode.workspace.getConfiguration('nnef-flatten');
    const command = settings.get('path', 'nnef-flatten');
    const args = ['lsp', ...settings.get('arguments', [])];
    const languages = ['nnef', 'onnxtxt'];
    client = new LanguageClient(
        'nnef-flatten',
        'NNEF',
        { command, args, transport: TransportKind.stdio },
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

async function restart() {
    await stop();
    await start();
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
    await start();
}

module.exports = { activate, deactivate: stop };

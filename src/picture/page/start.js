// Starts the page.
'use strict';

const page = new Page(document.body, JSON.parse(document.getElementById('data').textContent), new Desk());

// Starts the page.
'use strict';

const page = new Page(JSON.parse(document.getElementById('data').textContent));

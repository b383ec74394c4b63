"""AWS on one machine: moto behind a gateway of our own, with what moto leaves out put right."""
